package api

import (
	_ "embed" // for the embedded file
	"net/http"
)

// description is the OpenAPI document of the API. make docs generates it from Routes, CommandKinds
// and their types.
//
//go:embed openapi.json
var description []byte

func (s *Server) serveDescription(w http.ResponseWriter, r *http.Request) {
	writeTagged(w, r, "application/json", description, tagOf(description))
}
