package depproxy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem/ecosystemtest"
	"company/internal/lib/hosttest"
)

// newWheel makes a package that pip installs.
func newWheel(t *testing.T, name, version, requires string) []byte {
	t.Helper()
	info := name + "-" + version + ".dist-info/"
	return ecosystemtest.Zip(t,
		[2]string{name + ".py", "version = '" + version + "'\n"},
		[2]string{info + "METADATA", pyMetadata(name, version, requires)},
		[2]string{info + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		[2]string{info + "RECORD", name + ".py,,\n" + info + "METADATA,,\n" + info + "WHEEL,,\n" + info + "RECORD,,\n"},
	)
}

func pyMetadata(name, version, requires string) string {
	text := "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n"
	if requires != "" {
		text += "Requires-Dist: " + requires + "\n"
	}
	return text + "\nRequires-Dist: not-a-header\n"
}

// pypiRegistry speaks the simple API, as HTML or as JSON: alpha needs Beta_x.
func pypiRegistry(t *testing.T, form string, described bool) *fakeRegistry {
	t.Helper()
	type pkg struct{ name, version, requires string }
	all := []pkg{{"alpha", "1.0", "Beta_x[extra] (>=1) ; python_version > '3'"}, {"alpha", "2.0", ""},
		{"beta_x", "1.5", ""}, {"gamma", "1.0", ""}}
	return newFakeRegistry(t, func(w http.ResponseWriter, q *http.Request) {
		dir, file := filepath.Split(q.URL.Path)
		var rows []string
		for _, p := range all {
			name := p.name + "-" + p.version + "-py3-none-any.whl"
			body := newWheel(t, p.name, p.version, p.requires)
			sum := sha256.Sum256(body)
			switch {
			case file == name:
				_, _ = w.Write(body)
				return
			case file == name+".metadata" && described:
				_, _ = w.Write([]byte(pyMetadata(p.name, p.version, p.requires)))
				return
			case dir != "/simple/"+canonicalName(PyPI, p.name)+"/" || file != "":
			case form == "json":
				rows = append(
					rows, fmt.Sprintf(
						`{"filename":%q,"url":"../../f/%s","hashes":{"sha256":%q},"requires-python":">=3.6","core-metadata":%v,"yanked":false}`, name, name, hex.EncodeToString(sum[:]), described))
			default:
				rows = append(
					rows, fmt.Sprintf(`<a data-requires-python="&gt;=3.6" href="../../f/%s#sha256=%s">%s</a>`, name,
						hex.EncodeToString(sum[:]), name))
			}
		}
		switch {
		case len(rows) == 0:
			http.NotFound(w, q)
		case form == "json":
			w.Header().Set("Content-Type", "application/vnd.pypi.simple.v1+json")
			_, _ = fmt.Fprintf(w, `{"meta":{"api-version":"1.0"},"name":"x","files":[%s]}`, strings.Join(rows, ","))
		default:
			w.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprintf(w, "<html><body><h1>x</h1>%s</body></html>", strings.Join(rows, "<br>"))
		}
	})
}

// pip itself, against an index of each form.
func TestPyPIWithPip(t *testing.T) {
	hosttest.Long(t, "pip itself")
	for _, c := range []struct {
		form      string
		described bool
	}{{"html", false}, {"json", true}} {
		t.Run(c.form, func(t *testing.T) {
			r := pypiRegistry(t, c.form, c.described)
			s := newStore(t, upstreamsAt(PyPI, r.URL+"/simple"))
			p, notes := LockedPolicy(map[string][]byte{"requirements.txt": []byte("alpha==1.0  # why\n")})
			if len(notes) > 0 {
				t.Fatal(notes)
			}
			srv := serve(t, s.NewPolicyHandler(p))
			dir := t.TempDir()
			pip := func(args ...string) (string, error) {
				if _, err := exec.LookPath("python3"); err != nil {
					t.Fatal("there is no Python on this host: make test installs it")
				}
				env := []string{"PIP_INDEX_URL=" + srv.URL + "/pypi/simple/", "PIP_CONFIG_FILE=/dev/null",
					"PIP_DISABLE_PIP_VERSION_CHECK=1"}
				return run(t, dir, env, "python3",
					append([]string{"-m", "pip", "install", "--no-cache-dir", "--target", filepath.Join(dir, "site")}, args...)...)
			}
			out, err := pip("alpha")
			if err != nil && strings.Contains(out, "No module named pip") {
				t.Fatal("there is no pip on this host: make test installs it")
			}
			if err != nil || !strings.Contains(out, "Successfully installed Beta_x-1.5 alpha-1.0") {
				t.Fatalf("what is locked, and what it needs: %v\n%s", err, out)
			}
			asked := len(r.requests())
			if out, err := pip("gamma"); err == nil {
				t.Errorf("a name that nobody added: %s", out)
			}
			if got := r.requests()[asked:]; len(got) > 0 {
				t.Errorf("the outside was asked for %q", got)
			}
			p.AllowWithNeeds(newDependency(PyPI, "Gamma", "1.0"))
			if out, err := pip("gamma==1.0"); err != nil {
				t.Errorf("an added package: %v\n%s", err, out)
			}
			if grew := p.Additions(); !slices.Equal(grew, []company.Dependency{newDependency(PyPI, "Beta_x", "")}) {
				t.Errorf("learnt %v", grew)
			}
			// The list in the other form.
			req, err := http.NewRequest(http.MethodGet, srv.URL+"/pypi/simple/Alpha/", nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := srv.Client().Do(req)
			if err != nil || resp.StatusCode != http.StatusOK ||
				!strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
				t.Errorf("%v %v", resp, err)
			}
			_ = resp.Body.Close()
		})
	}
}
