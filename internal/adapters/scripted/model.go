package scripted

import (
	"cmp"
	"errors"
	"fmt"

	"company/internal/adapters"
	"company/internal/adapters/openai"
	"company/internal/company"
)

// model is the openai adapter on a server of its own.
type model struct {
	*openai.Client
	server *Server
}

var _ adapters.Model = (*model)(nil)

// Factory runs the script of a profile (`script:`) on a loopback server and
// drives it with the openai adapter. It is this adapter's line in the registry.
func Factory(p adapters.Profile, deps adapters.Deps) (adapters.Model, error) {
	if p.Script == "" {
		return nil, company.E(company.EConfig, fmt.Sprintf("model profile %q names no script", p.Name)).Fix("add `script:` with the path of a YAML file")
	}
	if p.BaseURL != "" || p.Key.Set() {
		return nil, company.E(company.EConfig, fmt.Sprintf("model profile %q: a scripted model has its own server and needs no key", p.Name)).Fix("remove base_url and api_key_env")
	}
	script, err := LoadScript(p.Script)
	if err != nil {
		return nil, err
	}
	return Open(script, p, deps)
}

// Open runs any brain the same way.
func Open(brain Responder, p adapters.Profile, deps adapters.Deps) (adapters.Model, error) {
	server, err := NewServer(brain)
	if err != nil {
		return nil, err
	}
	p.BaseURL, p.Model = server.URL(), cmp.Or(p.Model, "scripted")
	p.Adapter = "scripted"
	client, err := openai.New(p, deps)
	if err != nil {
		return nil, errors.Join(err, server.Close())
	}
	return &model{Client: client, server: server}, nil
}

// Close closes the client's connections, then the server.
func (m *model) Close() error {
	return errors.Join(m.Client.Close(), m.server.Close())
}
