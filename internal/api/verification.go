package api

import (
	"context"
	"encoding/json"
	"net/http"

	"company/internal/company"
	"company/internal/present/view"
)

// serveVerification verifies the whole ledger and every blob. It has no time limit and ends with
// the request.
func (s *Server) serveVerification(w http.ResponseWriter, r *http.Request) {
	verification, err := s.office.Verify(r.Context())
	if err != nil {
		writeError(w, orEnding(r, err))
		return
	}
	writeJSON(w, verification)
}

// serveEvidence compares the claims of a task with what shows them. It reads the journals of all its runs, so it ends
// with the request.
func (s *Server) serveEvidence(w http.ResponseWriter, r *http.Request) {
	result, err := s.office.CheckEvidence(r.Context(), r.PathValue("id"))
	if err != nil {
		writeError(w, orEnding(r, err))
		return
	}
	writeJSON(w, result)
}

// serveLeftovers searches folders, repositories and images for leftovers. It ends with the
// request.
func (s *Server) serveLeftovers(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	report, err := s.office.FindLeftovers(r.Context(), q.Get("all") == "true", q.Get("unmerged") == "true")
	if err != nil {
		writeError(w, orEnding(r, err))
		return
	}
	writeJSON(w, report)
}

// Verify makes the office verify its whole ledger and every blob, and waits for the result until
// ctx ends.
func (c *Client) Verify(ctx context.Context) (view.Verification, error) {
	var verification view.Verification
	resp, err := c.sendRequest(ctx, c.currentConnection(), http.MethodGet, "/api/v1/verification", nil)
	if err != nil {
		return verification, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return verification, readError(resp)
	}
	if err := json.NewDecoder(resp.Body).Decode(&verification); err != nil {
		return verification, company.E(company.EHeld, "the office's answer was cut off").Wrap(err)
	}
	return verification, nil
}
