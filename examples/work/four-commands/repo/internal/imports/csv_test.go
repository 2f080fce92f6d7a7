package imports

import (
	"path/filepath"
	"strings"
	"testing"

	"example.com/hours/internal/clitest"
)

func TestImportCSV(t *testing.T) {
	dir := clitest.Dir(t, "journal.txt", "2026-03-02 09:00-10:00 acme\n", "in.csv",
		"2026-03-02,09:00,10:00,acme,again\n2026-03-01,08:00,09:30,garden,\"Roses, and\nweeds\"\n")
	out, err := clitest.Run(t, dir, "import-csv", filepath.Join(dir, "in.csv"))
	if err != nil || out != "added 1, known 1\n" {
		t.Errorf("%q, %v", out, err)
	}
	if got := clitest.Read(t, dir, "journal.txt"); got != "2026-03-01 08:00-09:30 garden Roses, and weeds\n2026-03-02 09:00-10:00 acme\n" {
		t.Error(got)
	}
}

func TestImportCSVOfBadRows(t *testing.T) {
	for _, row := range []string{"2026-03-02,09:00,10:00,acme\n", "2026-03-02,10:00,09:00,acme,\n", "2026-03-02,09:00,10:00,,\n"} {
		dir := clitest.Dir(t, "journal.txt", "2026-03-02 09:00-10:00 acme\n", "in.csv", "2026-03-05,09:00,10:00,acme,\n"+row)
		out, err := clitest.Run(t, dir, "import-csv", filepath.Join(dir, "in.csv"))
		if err == nil || !strings.Contains(err.Error(), "line 2") || out != "" {
			t.Errorf("%s: %q, %v", row, out, err)
		}
		if got := clitest.Read(t, dir, "journal.txt"); got != "2026-03-02 09:00-10:00 acme\n" {
			t.Errorf("%s: %s", row, got)
		}
	}
}
