package exports

import (
	"testing"

	"example.com/hours/internal/clitest"
)

func TestExportCSV(t *testing.T) {
	dir := clitest.Dir(t, "journal.txt", "2026-03-31 09:00-10:00 acme Plan, and talk\n2026-04-01 22:00-24:00 garden\n")
	for month, want := range map[string]string{
		"2026-03": "2026-03-31,09:00,10:00,acme,\"Plan, and talk\"\n",
		"2026-04": "2026-04-01,22:00,24:00,garden,\n",
		"2026-05": "",
	} {
		if got, err := clitest.Run(t, dir, "export-csv", month); err != nil || got != want {
			t.Errorf("%s: %q, %v", month, got, err)
		}
	}
	if _, err := clitest.Run(t, dir, "export-csv", "March"); err == nil {
		t.Error("March is a month")
	}
	if got, err := clitest.Run(t, dir, "export-csv"); err != nil || len(got) == 0 {
		t.Errorf("of all months: %q, %v", got, err)
	}
}
