package sottovoce;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Where a client remembers what it drew. What was written must survive a crash: a report that was sent and forgotten would be drawn again. */
public interface Store {
    /** The text under a name, or null. */
    String get(String name);

    /** False, and nothing written, if the name is taken. */
    boolean add(String name, String text);

    void set(String name, String text);

    /** In memory: for tests, and for values that must not outlive the process. */
    static Store memory() {
        Map<String, String> content = new ConcurrentHashMap<>();
        return new Store() {
            @Override
            public String get(String name) {
                return content.get(name);
            }

            @Override
            public boolean add(String name, String text) {
                return content.putIfAbsent(name, text) == null;
            }

            @Override
            public void set(String name, String text) {
                content.put(name, text);
            }
        };
    }

    /** In a folder, one file per name, on the disk before a call returns. */
    static Store files(Path folder) {
        return new Folder(folder);
    }

    /** A folder of files. */
    final class Folder implements Store {
        private final Path folder;

        private Folder(Path folder) {
            this.folder = folder;
            try {
                Files.createDirectories(folder);
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }

        private Path path(String name) {
            return folder.resolve(Formats.sha256(name) + ".json");
        }

        @Override
        public String get(String name) {
            try {
                Path path = path(name);
                return Files.exists(path) ? new String(Files.readAllBytes(path), StandardCharsets.UTF_8) : null;
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }

        @Override
        public synchronized boolean add(String name, String text) {
            try {
                Path fresh = written(text);
                try {
                    Files.createLink(path(name), fresh); // fails where the name exists, also for another process
                } catch (FileAlreadyExistsException taken) {
                    return false;
                } catch (IOException | UnsupportedOperationException without) { // no links here, as on Android: one process
                    if (Files.exists(path(name))) return false;
                    Files.move(fresh, path(name), StandardCopyOption.ATOMIC_MOVE);
                } finally {
                    Files.deleteIfExists(fresh);
                }
                syncFolder();
                return true;
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }

        @Override
        public synchronized void set(String name, String text) {
            try {
                Files.move(written(text), path(name), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
                syncFolder();
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }

        /** A whole new file that is on the disk. */
        private Path written(String text) throws IOException {
            Path fresh = Files.createTempFile(folder, ".", "");
            try (FileChannel channel = FileChannel.open(fresh, StandardOpenOption.WRITE)) {
                ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
                while (bytes.hasRemaining()) channel.write(bytes);
                channel.force(true);
            }
            return fresh;
        }

        /** The folder holds the names. */
        private void syncFolder() {
            try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
                channel.force(true);
            } catch (IOException error) {
                // Some systems do not open folders; they keep names by themselves.
            }
        }
    }
}
