package toolserver

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"company/internal/toolbox/toolproto"
)

// MariaDB prints pages about its own end behind the line that names the full disk, and others
// give the error's number alone. Behind a failed check the reason is told in words that the gate knows.
func TestFullDiskOfAServiceIsTold(t *testing.T) {
	dump := strings.Repeat("Max open files            16384                16384                files     \n", 60)
	for _, c := range []struct {
		name, log string
		full      bool
	}{
		{"InnoDB", "2026-11-25 11:02:17 8 [ERROR] InnoDB: preallocating 37748736 bytes for file ./app_test/t.ibd failed " +
			"with error 28\n" + dump, true},
		{"Aria", "[ERROR] mariadbd: Disk full (/tmp/x.MAI); waiting for someone to free some space... (errno: 28 \"No " +
			"space left on device\")\n" + dump, true},
		{"Postgres", "ERROR:  could not extend file \"base/1/2\": No space left on device\n" + dump, true},
		{"another number", "[ERROR] failed with error 280\n[ERROR] errno: 2 28\n" + dump, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			one := toolproto.Service{Name: "one", Dir: t.TempDir()}
			if err := os.WriteFile(logOf(one), []byte(c.log), 0o600); err != nil {
				t.Fatal(err)
			}
			s := &services{list: toolproto.Services{Services: []toolproto.Service{one}}}
			argv := s.wrapGate([]string{"sh", "-c", "exit 7"})
			out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput()
			if err == nil || !strings.Contains(err.Error(), "status 7") {
				t.Errorf("%v", err)
			}
			if strings.Contains(string(out), "No space left on device") != c.full {
				t.Errorf("%s", out)
			}
		})
	}
}
