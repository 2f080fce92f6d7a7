package app

import "testing"

func TestShortCommit(t *testing.T) {
	for commit, want := range map[string]string{
		"0123456789abcdef0123456789abcdef01234567":       "0123456789ab",
		"0123456789abcdef0123456789abcdef01234567-dirty": "0123456789ab-dirty",
		"": "",
	} {
		if got := ShortCommit(commit); got != want {
			t.Errorf("%q: %q", commit, got)
		}
	}
	if BuildCommit("abc") != "abc" {
		t.Error("what a release names is not taken")
	}
}
