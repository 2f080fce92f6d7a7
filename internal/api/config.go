package api

import (
	"context"
	"net/http"

	"company/internal/company"
	"company/internal/office/config"
)

// ConfigChange changes one key of the office's company.yaml.
type ConfigChange struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"` // same format as for company config set
	Unset  bool   `json:"unset,omitempty"` // remove the key from the file
	Digest string `json:"digest"`          // digest from GET config; a file with another digest is not changed
}

// configRoutes lists the routes that change the config.
var configRoutes = []Route{
	{Method: http.MethodPost, Path: "config",
		Summary: "change one key of the office's company.yaml",
		Body:    ConfigChange{}, Answer: config.ChangeReport{}, serve: (*Server).serveConfigChange},
}

// serveConfigChange changes the config. Requests over the socket have all permissions of the
// owner's command line. A token must not gain permissions by a change.
func (s *Server) serveConfigChange(w http.ResponseWriter, r *http.Request) {
	servePost(s, w, r, func(ctx context.Context, configChange ConfigChange) (any, error) {
		byToken := cameByToken(ctx)
		out, err := s.desk.ChangeConfig(
			ctx, config.Change{Key: configChange.Key, Value: configChange.Value, Unset: configChange.Unset,
				Digest: &configChange.Digest, Remote: byToken})
		if err == nil {
			s.log.Info("config changed over the API", "key", configChange.Key, "token", byToken, "counts", out.Counts)
		}
		return out, err
	})
}

// isRefusedToToken reports whether an error means that tokens lack a permission.
func isRefusedToToken(r *http.Request, err error) bool {
	return cameByToken(r.Context()) && company.CodeOf(err) == company.EAccess
}
