package text

import "testing"

func TestCut(t *testing.T) {
	for _, c := range []struct{ name, got, want string }{
		{"short", Cut("abc", 3), "abc"},
		{"long", Cut("abcdef", 5), "ab…"},
		{"between words", CutBetweenWords("one two three", 12), "one two …"},
		{"one long word", CutBetweenWords("onetwothree", 9), "onetw …"},
		{"first line", FirstLine("\n  first \r\nsecond"), "first"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}
