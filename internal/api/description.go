package api

import (
	_ "embed" // the description is a file
	"net/http"
)

// description is the OpenAPI document of the API. make docs writes it from Routes,
// CommandKinds and the types that they name.
//
//go:embed openapi.json
var description []byte

func (s *Server) serveDescription(w http.ResponseWriter, r *http.Request) {
	writeTagged(w, r, "application/json", description, tagOf(description))
}
