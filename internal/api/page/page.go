package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

//go:embed all:dist
var built embed.FS

// policy is the page's content security policy. The HTML contains neither scripts nor styles, and
// text never becomes HTML (trusted types), so untrusted text stays text.
const policy = "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src " +
	"'self'; " +
	"object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// assets is the folder of files with a content hash in their names.
const assets = "assets/"

// Handler serves the page. It returns the page for every path that is not a file. Missing assets
// and all paths below /api/ return 404. Methods other than GET and HEAD return 405.
func Handler() http.Handler {
	files := map[string]*file{}
	walk := func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := built.ReadFile(name)
		if name = strings.TrimPrefix(name, "dist/"); name == "index.html" || name == "licenses.txt" ||
			strings.HasPrefix(name, assets) {
			files[name] = newFile(name, text)
		}
		return err
	}
	if err := fs.WalkDir(built, "dist", walk); err != nil {
		panic(err) // the files are embedded
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serveFile(files, w, r) })
}

// serveFile serves one of the files.
func serveFile(files map[string]*file, w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY") // for browsers without frame-ancestors
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
	f := files[name]
	switch {
	case f != nil:
	case strings.HasPrefix(name+"/", assets), strings.HasPrefix(name+"/", "api/"):
		http.NotFound(w, r)
		return
	default:
		name = "index.html"
		f = files[name]
	}
	h.Set("Cache-Control", "no-cache")
	if strings.HasPrefix(name, assets) {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	h.Set("ETag", f.tag)
	h.Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("If-None-Match"), f.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", f.mediaType)
	text := f.text
	if acceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		text = f.compressed()
	}
	h.Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = w.Write(text) // an error means that the client is gone; net/http omits the body for HEAD
}

// acceptsGzip reports whether a client accepts gzip. It is false for q=0.
func acceptsGzip(r *http.Request) bool {
	for one := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		coding, weight, _ := strings.Cut(strings.TrimSpace(one), ";")
		if q := strings.TrimPrefix(strings.ReplaceAll(weight, " ", ""), "q="); strings.EqualFold(
			strings.TrimSpace(coding), "gzip") {
			n, err := strconv.ParseFloat(q, 64)
			return q == "" || err == nil && n > 0
		}
	}
	return false
}

// file is a built file.
type file struct {
	text       []byte
	mediaType  string
	tag        string        // ETag of its content
	compressed func() []byte // computed once, for the first client that accepts it
}

func newFile(name string, text []byte) *file {
	sum := sha256.Sum256(text)
	f := &file{text: text, tag: `"` + hex.EncodeToString(sum[:12]) + `"`}
	switch path.Ext(name) {
	case ".js":
		f.mediaType = "text/javascript; charset=utf-8"
	case ".css":
		f.mediaType = "text/css; charset=utf-8"
	case ".html":
		f.mediaType = "text/html; charset=utf-8"
	case ".txt":
		f.mediaType = "text/plain; charset=utf-8"
	case ".svg":
		f.mediaType = "image/svg+xml"
	default:
		f.mediaType = mime.TypeByExtension(path.Ext(name))
	}
	f.compressed = sync.OnceValue(func() []byte {
		var out bytes.Buffer
		w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is valid
		_, _ = w.Write(text)                                    // a buffer accepts all writes
		_ = w.Close()
		return out.Bytes()
	})
	return f
}
