package bench

import "context"

func (o *watchedOffice) measurePage(ctx context.Context, w *benchEnv) (lines []Line, err error) {
	n, err := o.pageBytes(ctx)
	if err != nil {
		return nil, err
	}
	size := Line{What: "the page until its first paint, gzip", Unit: "kB", Ours: float64(n) / 1e3, Samples: 1}
	return []Line{size.withTarget("≤ 300 kB", n <= 300_000)}, nil
}
