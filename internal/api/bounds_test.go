package api

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"company/internal/company"
)

// TestBoundOfASubmission: all the files that an instruction may have travel in one submission,
// and no other request of the page may be as long.
func TestBoundOfASubmission(t *testing.T) {
	files := base64.StdEncoding.EncodedLen(company.MaxAttachedBytes) + maxBody // with its other fields
	for path, passes := range map[string]bool{"submissions": true, "commands": true, "trials": false, "session": false,
		"prs/sync": false, "submissions/x": false} {
		var err error
		read := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, err = io.Copy(io.Discard, r.Body) })
		r := httptest.NewRequestWithContext(
			t.Context(), http.MethodPost, "/api/v1/"+path, strings.NewReader(strings.Repeat("a", files)))
		boundBodies(read).ServeHTTP(httptest.NewRecorder(), r)
		if (err == nil) != passes {
			t.Errorf("%s: %v", path, err)
		}
	}
}
