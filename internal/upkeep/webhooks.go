package upkeep

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"company/internal/company"
	"company/internal/forge"
	"company/internal/lib/secret"
	"company/internal/present/feed"
)

// webhookPath is the path of the webhook at the address of forge.webhook_listen.
const webhookPath = "/webhook"

// Webhooks is the server for webhooks of forges in a serving company. A call only starts the next round early; its
// content is not used.
type Webhooks struct {
	Listen  string // empty means no server
	Secret  secret.Value
	Env     string // name of the variable with the secret
	Kinds   []forge.Webhook
	Trigger chan<- struct{}
}

// StartServer accepts calls until ctx ends. It is plain HTTP: put a proxy with TLS in front of it if it is reachable
// from the internet.
func (w Webhooks) StartServer(ctx context.Context, wg *sync.WaitGroup, tell func(feed.Item)) error {
	if w.Listen == "" {
		return nil
	}
	if !w.Secret.Set() {
		return company.E(company.EAuth, "cannot accept webhooks").Because(w.Env + " is NOT SET").
			Fix("export " + w.Env + " with the webhook's secret, or remove forge.webhook_listen")
	}
	listener, err := net.Listen("tcp", w.Listen)
	if err != nil {
		return company.E(company.EConfig, "cannot listen on "+w.Listen+" (forge.webhook_listen)").Wrap(err).
			Fix("choose another port")
	}
	mux := http.NewServeMux()
	mux.Handle(webhookPath, forge.NewWebhooks(w.Secret, w.Kinds).Handler(func(forge.WebhookEvent) {
		select {
		case w.Trigger <- struct{}{}:
		default: // a round is already requested
		}
	}))
	srv := &http.Server{
		Handler: mux, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
	wg.Go(func() {
		if err := srv.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			tell(feed.Item{Kind: "forge", Mark: feed.Failed, Text: "webhooks are not taken any more: " + err.Error()})
		}
	})
	context.AfterFunc(ctx, func() { _ = srv.Close() }) // this also closes connections
	tell(feed.Item{Kind: "forge", Mark: feed.Info,
		Text: fmt.Sprintf("webhooks are taken at http://%s%s", listener.Addr(), webhookPath)})
	return nil
}
