package api

import (
	"context"
	"encoding/json"
	"net/http"

	"company/internal/company"
	"company/internal/view"
)

// serveVerification reads the whole ledger and every blob. It takes as long as it takes,
// and ends with the request.
func (s *Server) serveVerification(w http.ResponseWriter, r *http.Request) {
	v, err := s.office.Verify(r.Context())
	if err != nil {
		writeError(w, orEnding(r, err))
		return
	}
	writeJSON(w, v)
}

// serveLeftovers looks through folders, repositories and images, and ends with the request.
func (s *Server) serveLeftovers(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	v, err := s.office.FindLeftovers(r.Context(), q.Get("all") == "true", q.Get("unmerged") == "true")
	if err != nil {
		writeError(w, orEnding(r, err))
		return
	}
	writeJSON(w, v)
}

// Verify has the office read its whole ledger and every blob, and waits for what it
// finds, until ctx ends.
func (c *Client) Verify(ctx context.Context) (view.Verification, error) {
	var v view.Verification
	resp, err := c.sendRequest(ctx, c.currentConnection(), http.MethodGet, "/api/v1/verification", nil)
	if err != nil {
		return v, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return v, readError(resp)
	}
	if err := json.NewDecoder(resp.Body).Decode(&v); err != nil {
		return v, company.E(company.EHeld, "the office's answer was cut off").Wrap(err)
	}
	return v, nil
}
