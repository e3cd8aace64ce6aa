package sottovoce;

import java.security.SecureRandom;

/** Uniform 64-bit words. */
public interface Words {
    long next();

    /** Words of the operating system's generator; a word that was handed out does not stay in memory. */
    static Words secure() {
        return Secure.STREAM;
    }

    /** A block of words, since one call per word would be slow. */
    final class Secure implements Words {
        private static final Words STREAM = new Secure();
        private final SecureRandom random = new SecureRandom();
        private final byte[] block = new byte[4096];
        private int used = block.length;

        private Secure() {}

        @Override
        public synchronized long next() {
            if (used == block.length) {
                random.nextBytes(block);
                used = 0;
            }
            long word = 0;
            for (int i = 0; i < 8; i++, used++) {
                word = word << 8 | (block[used] & 255);
                block[used] = 0;
            }
            return word;
        }

        /** 128 random bits in hexadecimal: an idempotency key. */
        static String key() {
            return String.format("%016x%016x", STREAM.next(), STREAM.next());
        }
    }
}
