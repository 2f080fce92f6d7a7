package scripted

import (
	"cmp"
	"errors"
	"fmt"

	"company/internal/adapters"
	"company/internal/adapters/openai"
	"company/internal/company"
)

// model is the openai adapter with its own server.
type model struct {
	*openai.Client
	server *Server
}

var _ adapters.Model = (*model)(nil)

// Factory runs the script of a profile (`script:`) on a loopback server and drives it with the openai adapter.
// It is for the registry.
func Factory(profile adapters.Profile, deps adapters.Deps) (adapters.Model, error) {
	if profile.Script == "" {
		return nil, company.E(company.EConfig, fmt.Sprintf("model profile %q has no script", profile.Name)).
			Fix("add `script:` with the path of a YAML file")
	}
	if profile.BaseURL != "" || profile.Key.Set() {
		return nil, company.E(company.EConfig,
			fmt.Sprintf("model profile %q: a scripted model takes no base_url and no key", profile.Name)).
			Fix("remove base_url and api_key_env")
	}
	script, err := LoadScript(profile.Script)
	if err != nil {
		return nil, err
	}
	return Open(script, profile, deps)
}

// Open runs any Responder in the same way.
func Open(brain Responder, profile adapters.Profile, deps adapters.Deps) (adapters.Model, error) {
	server, err := NewServer(brain)
	if err != nil {
		return nil, err
	}
	profile.BaseURL, profile.Model = server.URL(), cmp.Or(profile.Model, "scripted")
	profile.Adapter = "scripted"
	client, err := openai.New(profile, deps)
	if err != nil {
		return nil, errors.Join(err, server.Close())
	}
	return &model{Client: client, server: server}, nil
}

// Close closes the client's connections, then the server.
func (m *model) Close() error {
	return errors.Join(m.Client.Close(), m.server.Close())
}
