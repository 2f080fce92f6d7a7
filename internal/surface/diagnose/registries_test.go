package diagnose

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"company/internal/lib/healthcheck"
	"company/internal/office/config"
	"company/internal/office/config/configtest"
)

// With --online doctor asks the registries that the project's packages come from, and no others.
// Without it, it asks none.
func TestDoctorAsksRegistries(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("NETRC", os.DevNull)
	var asked atomic.Int32
	count := func(status int) *httptest.Server {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			w.WriteHeader(status)
		}))
		t.Cleanup(server.Close)
		return server
	}
	missing, closed, away := count(http.StatusNotFound), count(http.StatusUnauthorized), count(http.StatusOK)
	away.Close()
	t.Setenv("npm_config_registry", missing.URL)
	repo := configtest.Repo(t, map[string]string{"requirements.txt": "requests\n", "test_a.py": "def test_a(): pass\n"})
	for name, c := range map[string]struct {
		index  string
		online bool
		asked  int32
		found  string // "": there is no finding
		fix    string
	}{
		"offline":   {missing.URL, false, 0, "", ""},
		"answers":   {missing.URL, true, 1, "answered", ""},
		"no login":  {closed.URL, true, 1, "answers 401 without a login", "company trust --logins"},
		"not there": {away.URL, true, 0, "connection refused", "company config set --own deps.without '[pypi]'"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PIP_INDEX_URL", c.index+"/simple")
			asked.Store(0)
			checker := &Checker{Env: os.LookupEnv, Logger: slog.New(slog.DiscardHandler)}
			subject := Subject{Config: config.Loaded{Config: config.Default()}, Checkout: repo}
			var access []healthcheck.Finding
			for _, check := range checker.Checks(subject, Options{Online: c.online}) {
				if check.name != "project" && check.name != "registries" {
					continue
				}
				for _, finding := range check.run(t.Context()) {
					if finding.Name == "registry access" {
						access = append(access, finding)
					}
				}
			}
			if asked.Load() != c.asked {
				t.Errorf("%d requests were sent, want %d", asked.Load(), c.asked)
			}
			if c.found == "" && len(access) == 0 {
				return
			}
			if len(access) != 1 || !strings.Contains(access[0].Found, c.found) || c.found == "" ||
				access[0].OK != (c.fix == "") || !strings.Contains(access[0].Fix, c.fix) {
				t.Errorf("%+v", access)
			}
		})
	}
}
