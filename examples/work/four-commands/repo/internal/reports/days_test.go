package reports

import (
	"testing"

	"example.com/hours/internal/clitest"
)

func TestDays(t *testing.T) {
	dir := clitest.Dir(t, "journal.txt", "2026-03-02 09:00-12:30 acme\n2026-03-02 13:00-20:00 garden\n2026-03-02 21:00-21:05 acme\n2026-03-03 09:00-09:30 acme\n2026-04-01 09:00-09:30 acme\n")
	const want = "day         hours  projects\n2026-03-02  10:35  acme, garden\n2026-03-03   0:30  acme\ntotal       11:05\n"
	if got, err := clitest.Run(t, dir, "days", "2026-03"); err != nil || got != want {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := clitest.Run(t, dir, "days", "2026-13"); err == nil || got != "" {
		t.Errorf("%s, %v", got, err)
	}
}
