package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sumFiles is a line for each file below a folder: its hash and its path, by path.
func sumFiles(t *testing.T, root string, skip ...string) string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if entry.Name() == "node_modules" {
				return filepath.SkipDir
			}
			return nil
		}
		name, err := filepath.Rel(root, path)
		if name = filepath.ToSlash(name); err != nil || slices.Contains(skip, name) {
			return err
		}
		text, err := os.ReadFile(path)
		lines = append(lines, fmt.Sprintf("%x  %s\n", sha256.Sum256(text), name))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	return strings.Join(lines, "")
}

// The built files are those that the sources of web/ give: the build noted both hashes.
func TestBuiltFilesFitTheirSources(t *testing.T) {
	noted, err := os.ReadFile("dist/BUILD")
	if err != nil {
		t.Fatal(err)
	}
	sources, files, _ := strings.Cut(string(noted), "\n")
	if want := fmt.Sprintf("%x  sources", sha256.Sum256([]byte(sumFiles(t, "../../../web")))); sources != want {
		t.Errorf("web/ has changed since internal/api/page/dist was built: make page\nbuilt of %s\nthere is %s",
			sources, want)
	}
	if want := sumFiles(t, "dist", "BUILD"); files != want {
		t.Errorf("internal/api/page/dist has other files than the build wrote: make page\n%s\nthere are\n%s", files, want)
	}
}

// Text reaches the page as text alone: no source makes HTML of it (T19).
func TestSourcesMakeNoHTML(t *testing.T) {
	bad := regexp.MustCompile(
		`dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|\beval\(|new Function\(|srcdoc|srcDoc|javascript:`)
	n := 0
	err := filepath.WalkDir("../../../web/src", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		n++
		text, err := os.ReadFile(path)
		if at := bad.FindIndex(text); at != nil {
			t.Errorf("%s line %d: %s", path, 1+bytes.Count(text[:at[0]], []byte("\n")), text[at[0]:at[1]])
		}
		return err
	})
	if err != nil || n == 0 {
		t.Fatal(n, err)
	}
}

// answer is the answer to a request, read whole.
type answer struct {
	StatusCode int
	Header     http.Header
	Body       string
}

func get(t *testing.T, method, path string, header ...string) answer {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	return answer{w.Code, w.Header(), w.Body.String()}
}

// firstScript is the path of the page's own script.
func firstScript(t *testing.T) string {
	t.Helper()
	m := regexp.MustCompile(`src="(/assets/[^"]+\.js)"`).FindStringSubmatch(get(t, "GET", "/").Body)
	if m == nil {
		t.Fatal("the page names no script")
	}
	return m[1]
}

func TestRoutesGiveThePage(t *testing.T) {
	for _, path := range []string{"/", "/index.html", "/t/t12", "/costs", "/../../etc/passwd", "/BUILD", "/a/b.js"} {
		resp := get(t, "GET", path)
		if body := resp.Body; resp.StatusCode != 200 || !strings.Contains(body, `<div id="root">`) {
			t.Errorf("%s: %d %.60s", path, resp.StatusCode, body)
		}
		if got := resp.Header.Get("Cache-Control"); got != "no-cache" {
			t.Errorf("%s: Cache-Control %q", path, got)
		}
	}
	for _, path := range []string{"/assets/gone.js", "/assets", "/api/v1/hello", "/api"} {
		if resp := get(t, "GET", path); resp.StatusCode != 404 {
			t.Errorf("%s: %d, want 404", path, resp.StatusCode)
		}
	}
	if resp := get(t, "POST", "/"); resp.StatusCode != 405 {
		t.Errorf("POST: %d", resp.StatusCode)
	}
}

func TestAssetsAreKept(t *testing.T) {
	script := firstScript(t)
	plain := get(t, "GET", script)
	text := plain.Body
	if got := plain.Header.Get("Cache-Control"); !strings.Contains(got, "immutable") {
		t.Errorf("Cache-Control %q", got)
	}
	if got := plain.Header.Get("Content-Type"); !strings.HasPrefix(got, "text/javascript") {
		t.Errorf("Content-Type %q", got)
	}
	small := get(t, "GET", script, "Accept-Encoding", "br, gzip;q=0.8")
	unpacked, err := gzip.NewReader(strings.NewReader(small.Body))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(unpacked); err != nil || string(got) != text {
		t.Errorf("gzip: %d bytes, %v; want %d", len(got), err, len(text))
	}
	if resp := get(t, "GET", script, "Accept-Encoding", "gzip;q=0"); resp.Header.Get("Content-Encoding") != "" {
		t.Error("gzip to a client that refuses it")
	}
	again := get(t, "GET", script, "If-None-Match", plain.Header.Get("ETag"))
	if again.StatusCode != 304 || again.Body != "" {
		t.Errorf("the same again: %d", again.StatusCode)
	}
}

// A browser that holds to the headers runs nothing but the page's own scripts, and shows
// it in no frame (T19: clickjacking, injected scripts and styles).
func TestHeadersBindTheBrowser(t *testing.T) {
	for _, path := range []string{"/", firstScript(t), "/assets/gone.js"} {
		h := get(t, "GET", path).Header
		csp := h.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "object-src 'none'",
			"require-trusted-types-for 'script'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: no %s in %q", path, want, csp)
			}
		}
		if strings.Contains(csp, "unsafe") || strings.Contains(csp, "*") {
			t.Errorf("%s: %q", path, csp)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" ||
			h.Get("X-Frame-Options") != "DENY" {
			t.Errorf("%s: %v", path, h)
		}
	}
	if body := get(t, "GET", "/").Body; regexp.MustCompile(`<script>|<style|style=|\son[a-z]+="`).MatchString(body) {
		t.Errorf("the page has inline parts:\n%s", body)
	}
}

// What the first paint loads is at most 300 kB as gzip ; more is loaded when it is shown.
func TestFirstPaintIsSmall(t *testing.T) {
	body := get(t, "GET", "/").Body
	total := len(body)
	for _, m := range regexp.MustCompile(`(?:src|href)="(/assets/[^"]+\.(?:js|css))"`).FindAllStringSubmatch(body, -1) {
		resp := get(t, "GET", m[1], "Accept-Encoding", "gzip")
		total += len(resp.Body)
	}
	if total > 300_000 || total < 1000 {
		t.Errorf("the first paint loads %d bytes", total)
	}
	t.Logf("the first paint loads %d bytes as gzip", total)
}
