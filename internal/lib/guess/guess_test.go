package guess

import "testing"

// WRK-13: a claim of finished work that guesses is not a claim. Code, quotations and other uses of these words are fine.
func TestFindPhrase(t *testing.T) {
	for claim, want := range map[string]string{
		"It should work now.":                      "It should work",
		"This probably fixes it.":                  "probably",
		"The tests seem to pass.":                  "seem to pass",
		"Hopefully that is all":                    "Hopefully",
		"I think the limit is right":               "I think",
		"All tests should now pass.":               "tests should now pass",
		"Returns early for possibly nil maps.":     "",
		"Adds Maybe<T> with map.":                  "",
		"Tests that should pass now do.":           "",
		"Document how the cache should work.":      "",
		"Renders 'probably' and \"I think\" as is": "",
		"Logs `probably` less.":                    "",
		"Prints\n```\nit should work\n```\nagain.": "",
	} {
		if got := FindPhrase(claim); got != want {
			t.Errorf("%q guesses %q, want %q", claim, got, want)
		}
	}
}
