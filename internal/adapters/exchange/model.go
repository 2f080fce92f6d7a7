package exchange

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"company/internal/adapters"
	"company/internal/company"
)

// What drivers of different protocols do in the same way with one model.

// Open checks a profile, fills its address in (standard where it names none),
// and makes the client of its exchanges. It does not connect.
func Open(p *adapters.Profile, deps adapters.Deps, standard, like string, cfg Config) (*Client, error) {
	var err error
	if p.BaseURL, err = Base(cmp.Or(p.BaseURL, standard), like); err != nil {
		return nil, err
	}
	if p.Model == "" {
		return nil, company.E(company.EConfig, "no model is named")
	}
	if strings.ContainsFunc(p.Key.Reveal(), func(r rune) bool { return r < ' ' || r > '~' }) { // it cannot travel in a header
		return nil, company.E(company.EModelAuth, "the key holds characters that no key has").Fix("set the variable that api_key_env names anew")
	}
	cfg.Key, cfg.FirstToken, cfg.Idle, cfg.Whole = p.Key, cmp.Or(deps.FirstToken, cfg.FirstToken), cmp.Or(deps.Idle, cfg.Idle), cmp.Or(deps.Whole, cfg.Whole)
	c := NewClient(cfg)
	if deps.Log != nil {
		c.Log = deps.Log
	}
	return c, nil
}

// Base checks an address and takes the slash off its end.
func Base(address, like string) (string, error) {
	base := strings.TrimRight(address, "/")
	u, err := url.Parse(base)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "", company.E(company.EConfig, "base_url is no web address").Fix("write it like " + like)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		// A password there would be printed with every connection error.
		return "", company.E(company.EConfig, "base_url holds more than an address").Fix("keep keys in the variable that api_key_env names")
	}
	return base, nil
}

// RequireKey refuses a profile of a vendor's own service that has no key.
// variable is the one that vendor's programs read.
func RequireKey(p adapters.Profile, variable string) error {
	if p.BaseURL != "" || p.Key.Set() {
		return nil
	}
	name := cmp.Or(p.KeyEnv, variable)
	return company.E(company.EModelAuth, fmt.Sprintf("model profile %q has no key", p.Name)).Because(name + " is NOT SET").Fix("export " + name + "=...")
}

// Send sends a request, and sends it again without each parameter that the
// server refuses by name, as drop finds out. The refusal of a model that the
// server has not names those of list.
func Send[T any](ctx context.Context, c *Client, model string, toWire func() T, once func(T) (adapters.Response, error), drop func(*adapters.Error, T) bool, list func(context.Context) ([]string, error)) (adapters.Response, error) {
	for {
		sent := toWire()
		resp, err := once(sent)
		var refusal *adapters.Error
		switch {
		case !errors.As(err, &refusal):
		case refusal.Kind == adapters.BadRequest && drop(refusal, sent):
			c.Log.InfoContext(ctx, "the model's server refuses a parameter; sending the request without it", "model", model, "refusal", refusal.Message)
			continue
		case refusal.Status == http.StatusNotFound:
			if names, lerr := list(ctx); lerr == nil && len(names) > 0 && !slices.Contains(names, model) {
				err = c.modelMissing(cmp.Or(refusal.Message, "no such model"), names)
			}
		}
		return resp, err
	}
}

// Availability judges a server's list of models: an *adapters.Error when there is no
// server, or when a vendor's own service (own) has not this model. Other servers answer
// to names that they do not list (a router's variants, any name at all).
func (c *Client) Availability(model string, own bool, names []string, err error) (adapters.Listing, error) {
	switch {
	case adapters.KindOf(err) == adapters.BadRequest:
		return adapters.Listing{Text: "answers, and has no list of models", State: adapters.NoList}, nil
	case err != nil:
		return adapters.Listing{}, err
	case len(names) == 0: // many compatible servers list nothing and serve any name
		return adapters.Listing{Text: "answers", State: adapters.Listed}, nil
	case slices.Contains(names, model):
		return adapters.Listing{Text: "has the model", State: adapters.Listed}, nil
	case !own:
		return adapters.Listing{
			Text:  "answers, and lists " + c.Hide(strings.Join(names[:min(len(names), 5)], ", ")) + " and not this one",
			State: adapters.Unlisted, Fix: nameListed,
		}, nil
	}
	return adapters.Listing{}, c.modelMissing("the server has no model "+model, names)
}

// nameListed is what to do about a model that its server has not.
const nameListed = "name one of the models that the server has in company.yaml"

// modelMissing is the error of a model that the server has not, with those that it
// has.
func (c *Client) modelMissing(what string, names []string) error {
	return &adapters.Error{Kind: adapters.BadRequest, Status: http.StatusNotFound,
		Message: c.Hide(what + "; it has: " + strings.Join(names, ", ")),
		Fix:     nameListed}
}
