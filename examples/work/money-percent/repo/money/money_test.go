package money

import "testing"

func TestParseAndFormat(t *testing.T) {
	for _, tc := range []struct {
		text  string
		cents int64
		shown string
	}{
		{"12.50", 1250, "12.50"},
		{"12.5", 1250, "12.50"},
		{"12", 1200, "12.00"},
		{"0.07", 7, "0.07"},
	} {
		cents, err := Parse(tc.text)
		if err != nil || cents != tc.cents {
			t.Errorf("Parse(%q) = %d, %v, want %d", tc.text, cents, err, tc.cents)
		}
		if got := Format(cents); got != tc.shown {
			t.Errorf("Format(%d) = %q, want %q", cents, got, tc.shown)
		}
	}
	if got := Format(-105); got != "-1.05" {
		t.Errorf("Format(-105) = %q", got)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"", "x", "-1", "1.", "1.234", "1,50", "99999999999999999"} {
		if cents, err := Parse(text); err == nil {
			t.Errorf("Parse(%q) = %d, want an error", text, cents)
		}
	}
}

func TestPercentRoundsHalfUp(t *testing.T) {
	for _, tc := range []struct{ cents, percent, want int64 }{
		{1000, 5, 50}, {10, 5, 1}, {9, 5, 0}, {0, 50, 0}, {999, 100, 999},
	} {
		if got := Percent(tc.cents, tc.percent); got != tc.want {
			t.Errorf("Percent(%d, %d) = %d, want %d", tc.cents, tc.percent, got, tc.want)
		}
	}
}
