package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
)

// ages matches the fields of a resource that grow with the clock while nothing changes. Each field
// is next to its start time.
var ages = regexp.MustCompile(`"(?:duration_ms|due_in_ms)":-?[0-9]+`)

// writeResource writes a resource and its ETag. The tag ignores ages, because otherwise the tag of
// a running task would change on each request. The tag is weak, because answers with the same tag
// may differ in ages. Secrets in the resource are masked.
func (s *Server) writeResource(w http.ResponseWriter, r *http.Request, v any) {
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(v); err != nil {
		writeError(w, err)
		return
	}
	shown := s.secrets.MaskJSON(text.Bytes())
	writeTagged(w, r, "application/json", shown, "W/"+tagOf(ages.ReplaceAll(shown, nil)))
}

// tagOf returns the strong ETag of a text. It hashes the bytes. The number of the newest event is
// not enough. A view also has data outside of the ledger, such as the current work of an agent.
func tagOf(text []byte) string {
	sum := sha256.Sum256(text)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

// writeTagged writes a text and its ETag, or 304 if the client has that text.
func writeTagged(w http.ResponseWriter, r *http.Request, mediaType string, text []byte, tag string) {
	w.Header().Set("ETag", tag)
	if w.Header().Get("Cache-Control") == "" { // no answer is stored over TCP
		w.Header().Set("Cache-Control", "no-cache")
	}
	if matchesTag(r.Header.Values("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", mediaType)
	_, _ = w.Write(text) // an error means that the client is gone
}

// matchesTag reports whether the values of If-None-Match contain a tag. Weak and strong tags
// compare equal (RFC 9110, 13.1.2).
func matchesTag(values []string, tag string) bool {
	tag = strings.TrimPrefix(tag, "W/")
	for _, value := range values {
		for one := range strings.SplitSeq(value, ",") {
			if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == tag {
				return true
			}
		}
	}
	return false
}
