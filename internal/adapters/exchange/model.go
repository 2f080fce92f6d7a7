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

// Steps that drivers of different protocols share.

// Open checks a profile, sets its address (by default standard), and returns the client of its exchanges. It
// does not connect.
func Open(profile *adapters.Profile, deps adapters.Deps, standard, like string, cfg Config) (*Client, error) {
	var err error
	if profile.BaseURL, err = Base(cmp.Or(profile.BaseURL, standard), like); err != nil {
		return nil, err
	}
	if profile.Model == "" {
		return nil, company.E(company.EConfig, "model is missing")
	}
	if strings.ContainsFunc(profile.Key.Reveal(), func(r rune) bool { return r < ' ' || r > '~' }) {
		// such a key is invalid in a header
		return nil, company.E(company.EModelAuth, "the key has invalid characters").
			Fix("export " + cmp.Or(profile.KeyEnv, "the variable that api_key_env names") + " again")
	}
	cfg.Key = profile.Key
	cfg.FirstToken = cmp.Or(deps.FirstToken, cfg.FirstToken)
	cfg.Idle = cmp.Or(deps.Idle, cfg.Idle)
	cfg.Whole = cmp.Or(deps.Whole, cfg.Whole)
	cfg.Store = deps.Store
	client := NewClient(cfg)
	if deps.Log != nil {
		client.Log = deps.Log
	}
	return client, nil
}

// Base checks an address and removes trailing slashes.
func Base(address, like string) (string, error) {
	base := strings.TrimRight(address, "/")
	u, err := url.Parse(base)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "", company.E(company.EConfig, "base_url is not a URL").Fix("write it like " + like)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		// A password there would be printed with every connection error.
		return "", company.E(company.EConfig, "base_url must not have a user, query or fragment").
			Fix("put keys into the variable that api_key_env names")
	}
	return base, nil
}

// RequireKey returns an error if a profile uses a vendor's own service without a key. variable is the vendor's
// usual variable for the key.
func RequireKey(profile adapters.Profile, variable string) error {
	if profile.BaseURL != "" || profile.Key.Set() {
		return nil
	}
	name := cmp.Or(profile.KeyEnv, variable)
	return company.E(company.EModelAuth, fmt.Sprintf("model profile %q has no key", profile.Name)).
		Because(name + " is NOT SET").
		Fix("export " + name + "=...")
}

// Send sends a request. If the server refuses it for a rule that adapt learns, it is sent again in another form. If the
// server lacks the model, the error names the models of list.
func Send[T any](
	ctx context.Context, client *Client, model string, toWire func() T, once func(T) (adapters.Response, error),
	adapt func(*adapters.Error, T) bool, list func(context.Context) ([]string, error),
) (adapters.Response, error) {
	for {
		sent := toWire()
		resp, err := once(sent)
		var refusal *adapters.Error
		switch {
		case !errors.As(err, &refusal):
		case refusal.Kind == adapters.BadRequest && adapt(refusal, sent):
			client.Log.InfoContext(ctx, "the model's server refuses the request; sending it in another form", "model", model,
				"refusal", refusal.Message)
			continue
		case refusal.Status == http.StatusNotFound:
			if names, lerr := list(ctx); lerr == nil && len(names) > 0 && !slices.Contains(names, model) {
				err = client.modelMissing(cmp.Or(refusal.Message, "no such model"), names)
			}
		}
		return resp, err
	}
}

// Availability evaluates a server's list of models. It returns an *adapters.Error if the server is unreachable,
// or if a vendor's own service (own) lacks the model. Other servers may accept unlisted names (a router's
// variants, or any name).
func (c *Client) Availability(model string, own bool, names []string, err error) (adapters.Listing, error) {
	switch {
	case adapters.KindOf(err) == adapters.BadRequest:
		return adapters.Listing{Text: "answers, and has no list of models", State: adapters.NoList}, nil
	case err != nil:
		return adapters.Listing{}, err
	case len(names) == 0: // many compatible servers list no model and accept any name
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

// nameListed is the fix for a model that its server lacks.
const nameListed = "name one of the models that the server has: company config show tells where the model is set"

// modelMissing returns the error for a model that the server lacks, with the names that it has.
func (c *Client) modelMissing(what string, names []string) error {
	return &adapters.Error{Kind: adapters.BadRequest, Status: http.StatusNotFound,
		Message: c.Hide(what + "; it has: " + strings.Join(names, ", ")),
		Fix:     nameListed}
}
