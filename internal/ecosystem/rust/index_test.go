package rust

import "testing"

func TestIndexPath(t *testing.T) {
	for name, want := range map[string]string{"a": "1/a", "ab": "2/ab", "abc": "3/a/abc",
		"Serde_JSON": "se/rd/serde_json", "": ""} {
		if got := indexPath(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
