package dates

import (
	"testing"
	"time"
)

func TestParseAndWrite(t *testing.T) {
	for _, text := range []string{"2023-03-06", "1999-12-31"} {
		d, err := Parse(text)
		if err != nil || d.String() != text {
			t.Errorf("%s: %v, %v", text, d, err)
		}
	}
	for _, text := range []string{"", "06.03.2023", "2023-3-6", "2023-02-30"} {
		if d, err := Parse(text); err == nil {
			t.Errorf("%q is read as %v", text, d)
		}
	}
}

func TestAddGoesOnIntoTheNextMonth(t *testing.T) {
	d := Of(2023, time.January, 30)
	for days, want := range map[int]string{0: "2023-01-30", 2: "2023-02-01", 30: "2023-03-01", -30: "2022-12-31"} {
		if got := d.Add(days).String(); got != want {
			t.Errorf("%v and %d days is %s, want %s", d, days, got, want)
		}
	}
}
