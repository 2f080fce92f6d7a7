// Package officetest opens offices for tests.
package officetest

import (
	"testing"

	"company/internal/config/configtest"
	"company/internal/office"
)

// Open opens an empty office in a folder of the test, and closes it at the end.
func Open(t *testing.T) *office.Office {
	t.Helper()
	p, err := office.Find(office.FindOptions{Dir: configtest.Office(t, "version: 1\n")})
	if err != nil {
		t.Fatal(err)
	}
	off, err := office.Open(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := off.Close(); err != nil {
			t.Error(err)
		}
	})
	return off
}
