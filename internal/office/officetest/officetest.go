// Package officetest opens offices for tests.
package officetest

import (
	"os"
	"testing"

	"company/internal/office"
	"company/internal/office/config/configtest"
)

// Open opens an empty office in a folder of the test, and closes it at the end.
func Open(t *testing.T) *office.Office {
	t.Helper()
	paths, err := office.Find(office.FindOptions{Dir: configtest.Office(t, "version: 1\n"), Env: os.LookupEnv})
	if err != nil {
		t.Fatal(err)
	}
	off, err := office.Open(t.Context(), paths)
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
