package officeaccess

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"company/internal/company"
	"company/internal/office"
	"company/internal/office/config"
	"company/internal/surface/terminalio"
)

// TestLinesAtOnce: lines of one list that are written at the same time are all in the file, whichever
// process writes them.
func TestLinesAtOnce(t *testing.T) {
	t.Parallel()
	home, checkout := t.TempDir(), t.TempDir()
	env := func(name string) (string, bool) {
		return map[string]string{"HOME": home, "XDG_CONFIG_HOME": home}[name], name == "HOME" || name == "XDG_CONFIG_HOME"
	}
	line := func(i int) company.ConfigLine { return company.InstallPackages(fmt.Sprintf("package-%d", i)) }
	var writers sync.WaitGroup
	for i := range 6 {
		writers.Go(func() {
			ent := &Entrance{Console: &terminalio.Console{Out: io.Discard, Err: io.Discard, LookupEnv: env}}
			if err := (lineWriter{ent, office.Paths{}}).WriteLine(t.Context(), checkout, line(i)); err != nil {
				t.Errorf("line %d: %v", i, err)
			}
		})
	}
	writers.Wait()
	file, err := config.RepositoryFile(env, checkout)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		if want := fmt.Sprintf("apt-get install -y package-%d", i); strings.Count(string(text), want) != 1 {
			t.Errorf("%q is not in the file once:\n%s", want, text)
		}
	}
}
