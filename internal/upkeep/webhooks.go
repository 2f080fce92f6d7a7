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
	"company/internal/feed"
	"company/internal/forge"
	"company/internal/secret"
)

// webhookPath is where a forge calls, below the address of forge.webhook_listen.
const webhookPath = "/webhook"

// Webhooks is the place where forges call while a company serves. A call is a
// hint to ask now instead of at the next round: nothing of it is acted on.
type Webhooks struct {
	Listen  string // empty: none
	Secret  secret.Value
	Env     string // that the secret is read from
	Trigger chan<- struct{}
}

// StartServer takes calls until ctx ends. It is plain HTTP: what the world reaches
// belongs behind a proxy that speaks TLS.
func (w Webhooks) StartServer(ctx context.Context, wg *sync.WaitGroup, tell func(feed.Item)) error {
	if w.Listen == "" {
		return nil
	}
	if !w.Secret.Set() {
		return company.E(company.EAuth, "webhooks cannot be taken").Because(w.Env + " is NOT SET").
			Fix("export " + w.Env + " with the webhook's secret, or remove forge.webhook_listen")
	}
	l, err := net.Listen("tcp", w.Listen)
	if err != nil {
		return company.E(company.EConfig, "forge.webhook_listen cannot be listened on").Wrap(err).Fix("name another port")
	}
	mux := http.NewServeMux()
	mux.Handle(webhookPath, forge.NewWebhooks(w.Secret).Handler(func(forge.WebhookEvent) {
		select {
		case w.Trigger <- struct{}{}:
		default: // a round is called for already
		}
	}))
	srv := &http.Server{
		Handler: mux, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
	wg.Go(func() {
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			tell(feed.Item{Kind: "forge", Mark: feed.Failed, Text: "webhooks are not taken any more: " + err.Error()})
		}
	})
	context.AfterFunc(ctx, func() { _ = srv.Close() }) // connections end with it
	tell(feed.Item{Kind: "forge", Mark: feed.Info, Text: fmt.Sprintf("webhooks are taken at http://%s%s", l.Addr(), webhookPath)})
	return nil
}
