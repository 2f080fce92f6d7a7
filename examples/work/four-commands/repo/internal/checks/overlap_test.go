package checks

import (
	"testing"

	"example.com/hours/internal/clitest"
)

func TestOverlap(t *testing.T) {
	dir := clitest.Dir(t, "journal.txt", "2026-03-02 09:00-12:30 acme\n2026-03-02 12:00-13:00 garden\n2026-03-03 09:00-10:00 acme\n2026-03-03 10:00-11:00 acme\n")
	got, err := clitest.Run(t, dir, "check-overlap")
	if err == nil || err.Error() != "findings: 1" || got != "2026-03-02 overlap 09:00-12:30 acme and 12:00-13:00 garden\n" {
		t.Errorf("%s, %v", got, err)
	}
}

func TestNoOverlap(t *testing.T) {
	dir := clitest.Dir(t, "journal.txt", "2026-03-02 09:00-12:00 acme\n2026-03-02 12:00-13:00 garden\n")
	if got, err := clitest.Run(t, dir, "check-overlap"); err != nil || got != "ok\n" {
		t.Errorf("%s, %v", got, err)
	}
}
