package money

import "testing"

func TestParse(t *testing.T) {
	for text, want := range map[string]Cents{"95": 9500, "95.5": 9550, "95.05": 9505, "0.07": 7} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", ".5", "1.234", "-1", "1,50"} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestString(t *testing.T) {
	for c, want := range map[Cents]string{0: "0.00", 7: "0.07", 9505: "95.05", -250: "-2.50", -7: "-0.07"} {
		if got := c.String(); got != want {
			t.Errorf("%d: %s", int64(c), got)
		}
	}
}
