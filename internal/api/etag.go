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

// ages finds the fields of a resource that grow with the clock while nothing happens. Each of
// them stands beside the instant from which it counts.
var ages = regexp.MustCompile(`"(?:duration_ms|due_in_ms)":-?[0-9]+`)

// writeResource answers with a resource and its ETag. Ages are left out of the tag: else that
// of a task at work were another one at each request. The tag is weak, because two answers
// under it may differ in their ages.
func writeResource(w http.ResponseWriter, r *http.Request, v any) {
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(v); err != nil {
		writeError(w, err)
		return
	}
	writeTagged(w, r, "application/json", text.Bytes(), "W/"+tagOf(ages.ReplaceAll(text.Bytes(), nil)))
}

// tagOf is the strong ETag of a text. It is of the bytes: a view holds more than the ledger
// does, such as what an agent is doing, so the number of the newest event would not tell two
// of them apart.
func tagOf(text []byte) string {
	sum := sha256.Sum256(text)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

// writeTagged answers with a text and its ETag, or with 304 where the client has that text.
func writeTagged(w http.ResponseWriter, r *http.Request, mediaType string, text []byte, tag string) {
	w.Header().Set("ETag", tag)
	if w.Header().Get("Cache-Control") == "" { // over TCP nothing is stored
		w.Header().Set("Cache-Control", "no-cache")
	}
	if matchesTag(r.Header.Values("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", mediaType)
	_, _ = w.Write(text) // the client is gone, or it has it
}

// matchesTag reports whether the values of If-None-Match name a tag. A weak tag
// compares as a strong one does (RFC 9110, 13.1.2).
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
