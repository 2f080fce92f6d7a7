package container

import "testing"

// Memory that can be given away counts, and a host that does not tell has none.
func TestHasAvailable(t *testing.T) {
	const text = "MemTotal:       16000000 kB\nMemFree:          100000 kB\nMemAvailable:    2097152 kB\n"
	for name, c := range map[string]struct {
		text  string
		bytes int64
		want  bool
	}{
		"enough":   {text, 2 * GiB, true},
		"too much": {text, 2*GiB + 1, false},
		"not told": {"MemTotal: 16000000 kB\n", 1, false},
	} {
		if got := hasAvailable([]byte(c.text), c.bytes); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
