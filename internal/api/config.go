package api

import (
	"context"
	"net/http"

	"company/internal/company"
	"company/internal/config"
)

// ConfigChange changes one key of the office's company.yaml.
type ConfigChange struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"` // as company config set takes it
	Unset  bool   `json:"unset,omitempty"` // take the key out of the file
	Digest string `json:"digest"`          // of the file as GET config named it: a file with another one stays as it is
}

// configRoutes change the config.
var configRoutes = []Route{
	{Method: http.MethodPost, Path: "config", Summary: "changes one key of the office's company.yaml, as `company config set` and `unset`, where the file is the one that `digest` names; with a token, keys about bounds, checks and questions alone, and nothing is loosened", Body: ConfigChange{}, Answer: config.ChangeReport{}, serve: (*Server).serveConfigChange},
}

// serveConfigChange changes the config. The socket may do what the command line of its owner
// may. A token may not reach further by a change than without one.
func (s *Server) serveConfigChange(w http.ResponseWriter, r *http.Request) {
	servePost(s, w, r, func(ctx context.Context, in ConfigChange) (any, error) {
		byToken := cameByToken(ctx)
		out, err := s.desk.ChangeConfig(ctx, config.Change{Key: in.Key, Value: in.Value, Unset: in.Unset, Digest: &in.Digest, Remote: byToken})
		if err == nil {
			s.log.Info("config changed over the API", "key", in.Key, "token", byToken, "counts", out.Counts)
		}
		return out, err
	})
}

// isRefusedToToken reports whether an error says that a token is let do something by no login.
func isRefusedToToken(r *http.Request, err error) bool {
	return cameByToken(r.Context()) && company.CodeOf(err) == company.EAccess
}
