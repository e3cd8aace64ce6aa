package sottovoce;

import static sottovoce.Refusal.rule;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Windows, and a public coin between several: `window/1` and `mixture/1`. */
final class Windows implements Scalar.Law {
    private static final int MAX_PARTS = 16;
    private static final int MAX_COIN = 1 << 10;

    final double epsilon;
    final Domain domain;
    private final List<Window> windows = new ArrayList<>();
    private final int[] offsets;
    private final int[] sides; // the part of each side of the coin
    private final int coinBits; // 0: there is no coin
    private final int cells;

    private Windows(List<Reader.Part> parts, long[] weights) {
        epsilon = parts.get(0).epsilon;
        domain = parts.get(0).domain;
        offsets = new int[parts.size()];
        int total = 0;
        for (int i = 0; i < parts.size(); i++) {
            Reader.Part part = parts.get(i);
            rule(part.epsilon == epsilon && part.domain.same(domain), "the parts of a mixture must have the same epsilon and domain", "parts");
            windows.add(part.window);
            offsets[i] = total;
            total += part.window.cells;
        }
        rule(total <= Window.MAX_CELLS, "there can be at most " + Window.MAX_CELLS + " cells", "parts");
        cells = total;
        sides = new int[(int) Arrays.stream(weights).sum()];
        for (int i = 0, side = 0; i < weights.length; i++) {
            for (long k = 0; k < weights[i]; k++) sides[side++] = i;
        }
        coinBits = Integer.numberOfTrailingZeros(sides.length);
    }

    static Windows one(Object content) {
        return new Windows(List.of(Reader.window(content)), new long[] {1});
    }

    static Windows mixture(Object content) {
        Map<String, Object> spec = Reader.object(content, "spec", "format", "parts", "weights");
        long[] weights = Reader.integers(spec.get("weights"), "weights");
        List<Reader.Part> parts = new ArrayList<>();
        for (Object part : Reader.list(spec.get("parts"), "parts")) parts.add(Reader.window(part));
        rule(!parts.isEmpty() && parts.size() <= MAX_PARTS, "a mixture has between 1 and " + MAX_PARTS + " parts", "parts");
        rule(weights.length == parts.size(), "weights must have one entry per part", "weights");
        long total = 0;
        for (long weight : weights) {
            rule(weight >= 1, "weights must be whole numbers of at least 1", "weights");
            total += weight;
        }
        rule(total <= MAX_COIN && Long.bitCount(total) == 1, "weights must add up to a power of two up to " + MAX_COIN, "weights");
        return new Windows(parts, weights);
    }

    /** A public coin cancels: the worst part counts. */
    @Override
    public Ratio ratio() {
        return windows.stream().map(Window::largestRatio).max(Ratio::compareTo).get();
    }

    @Override
    public int cells() {
        return cells;
    }

    @Override
    public int cell(double unit, Words words) {
        long word = words.next();
        int side = coinBits == 0 ? 0 : sides[(int) (words.next() >>> (64 - coinBits))];
        return offsets[side] + windows.get(side).cell(unit, word);
    }

    @Override
    public double position(int cell) {
        int side = offsets.length - 1;
        while (offsets[side] > cell) side--;
        return windows.get(side).position(cell - offsets[side]);
    }
}
