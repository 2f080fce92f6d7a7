package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
)

// writeResource answers with a resource and its ETag.
func writeResource(w http.ResponseWriter, r *http.Request, v any) {
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(v); err != nil {
		writeError(w, err)
		return
	}
	writeTagged(w, r, "application/json", text.Bytes())
}

// writeTagged answers with a text and its ETag, or with 304 where the client has that
// text. The tag is of the bytes: a view holds more than the ledger does, such as what
// an agent is doing, so the number of the newest event would not tell two of them apart.
func writeTagged(w http.ResponseWriter, r *http.Request, mediaType string, text []byte) {
	sum := sha256.Sum256(text)
	tag := `"` + hex.EncodeToString(sum[:12]) + `"`
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
	for _, value := range values {
		for one := range strings.SplitSeq(value, ",") {
			if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == tag {
				return true
			}
		}
	}
	return false
}
