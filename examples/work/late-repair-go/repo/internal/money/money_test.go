package money

import "testing"

func TestString(t *testing.T) {
	for sum, want := range map[Cents]string{0: "0.00", 5: "0.05", 40: "0.40", 1234: "12.34", -250: "-2.50"} {
		if got := sum.String(); got != want {
			t.Errorf("%d cents are %s, want %s", int(sum), got, want)
		}
	}
}
