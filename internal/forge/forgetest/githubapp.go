package forgetest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// githubApp is a GitHub App with its installations.
type githubApp struct {
	id   int64
	key  *rsa.PublicKey
	repo *Repo // of installation id+1
}

// AddApp adds a GitHub App that is installed in a repository. It returns the private key in PEM and the id of the
// installation.
func (s *Server) AddApp(id int64, repo *Repo) (keyPEM string, installation int64) {
	s.t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.apps[id] = &githubApp{id: id, key: &key.PublicKey, repo: repo}
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})), id + 1
}

// verifyAppJWT validates the signed claim of an App: RS256, at most ten minutes.
func (h *githubAPI) verifyAppJWT(r *http.Request) (*githubApp, string) {
	raw, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	part := strings.Split(raw, ".")
	if !ok || len(part) != 3 {
		return nil, "A JSON web token could not be decoded"
	}
	claim, err1 := base64.RawURLEncoding.DecodeString(part[1])
	sig, err2 := base64.RawURLEncoding.DecodeString(part[2])
	var c struct {
		Iss      string `json:"iss"`
		Iat, Exp int64
	}
	if err1 != nil || err2 != nil || json.Unmarshal(claim, &c) != nil {
		return nil, "A JSON web token could not be decoded"
	}
	var id int64
	_, _ = fmt.Sscan(c.Iss, &id)
	a := h.apps[id]
	now := h.currentTime().Unix()
	sum := sha256.Sum256([]byte(part[0] + "." + part[1]))
	switch {
	case a == nil:
		return nil, "Integration not found"
	case rsa.VerifyPKCS1v15(a.key, crypto.SHA256, sum[:], sig) != nil:
		return nil, "A JSON web token could not be decoded"
	case c.Exp < now || c.Exp > now+600 || c.Iat > now:
		return nil, "'Expiration time' claim ('exp') is too far in the future"
	}
	return a, ""
}

func (h *githubAPI) serveInstallation(w http.ResponseWriter, r *http.Request) {
	githubApp, reason := h.verifyAppJWT(r)
	if githubApp == nil {
		sendError(w, r, http.StatusUnauthorized, reason)
		return
	}
	if !strings.EqualFold(githubApp.repo.fullName(), r.PathValue("owner")+"/"+r.PathValue("repo")) {
		sendError(w, r, http.StatusNotFound, "Not Found")
		return
	}
	u := h.URL + "/api/v3"
	sendJSON(
		w, r, http.StatusOK,
		jsonObject{"id": githubApp.id + 1, "app_id": githubApp.id, "app_slug": "company", "target_id": 1,
			"target_type":      "Organization",
			"account":          h.userJSON(githubApp.repo.Owner, false),
			"single_file_name": nil, "repository_selection": "selected", "access_tokens_url": u, "html_url": u,
			"repositories_url": u, "events": []string{},
			"permissions": jsonObject{"contents": "write", "pull_requests": "write"}, "created_at": "2026-01-01T00:00:00Z",
			"updated_at":   "2026-01-01T00:00:00Z",
			"suspended_by": nil, "suspended_at": nil})
}

func (h *githubAPI) createInstallationToken(w http.ResponseWriter, r *http.Request) {
	githubApp, reason := h.verifyAppJWT(r)
	if githubApp == nil {
		sendError(w, r, http.StatusUnauthorized, reason)
		return
	}
	if r.PathValue("id") != fmt.Sprint(githubApp.id+1) {
		sendError(w, r, http.StatusNotFound, "Not Found")
		return
	}
	secret := fmt.Sprint("ghs_", h.nextID())
	expires := h.currentTime().Add(time.Hour)
	h.tokens[secret] = &Token{Login: "company[bot]", Expires: expires, app: githubApp.repo}
	sendJSON(w, r, http.StatusCreated,
		jsonObject{"token": secret, "expires_at": formatTime(expires),
			"permissions": jsonObject{"contents": "write", "pull_requests": "write"}, "repository_selection": "selected"})
}
