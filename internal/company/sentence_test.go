package company

import "testing"

// What follows a question, such as how it was answered, begins a sentence.
func TestSentence(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"t1-01 is blocked: it repeats itself": "t1-01 is blocked: it repeats itself.",
		"Let it pass?":                        "Let it pass?",
		" Fix it. ":                           "Fix it.",
		"":                                    "",
	} {
		if got := endSentence(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
