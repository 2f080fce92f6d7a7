package php

import (
	"testing"

	"company/internal/ecosystem"
)

// What composer and its plugins take from a lock file is compared with the registry's, field by field.
func TestLayoutsAndAddressesDiffer(t *testing.T) {
	read := func(text string) string {
		return newWrittenLayout(ecosystem.FieldsOf([]byte(text))).readAfter(layout{}).String()
	}
	for _, field := range []string{"extra", "replace", "provide", "autoload", "bin", "target-dir"} {
		if read(`{"`+field+`":{"a":"b"}}`) == read(`{}`) {
			t.Errorf("%s counts for nothing", field)
		}
		if read(`{"`+field+`":[]}`) != read(`{}`) {
			t.Errorf("an empty %s is another one", field)
		}
	}
	usual := joinAddresses(dist{Type: "zip", URL: "x"}, source{Type: "git", URL: "y"})
	for _, other := range []string{joinAddresses(dist{Type: "file", URL: "x"}, source{Type: "git", URL: "y"}),
		joinAddresses(dist{Type: "zip", URL: "x"}, source{Type: "hg", URL: "y"})} {
		if other == usual {
			t.Errorf("%q is the same", other)
		}
	}
}
