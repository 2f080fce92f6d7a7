package app

import (
	"company/internal/config"
	"company/internal/secret"
	"company/internal/upkeep"
)

// wireUpkeep makes the jobs that come again and again while the office is served,
// and the server of the forge's webhooks.
func (h *App) wireUpkeep(cfg config.Config, o outside) error {
	h.repackJob = h.keeper.RepackJob(o.git)
	called := make(chan struct{}, 1)
	h.webhooks = upkeep.Webhooks{Listen: cfg.Forge.WebhookListen, Secret: secret.New(h.envValue(cfg.Forge.WebhookEnv)), Env: cfg.Forge.WebhookEnv, Trigger: called}
	feedback, err := h.feedbackJob(called, o.forges)
	h.jobs = append(h.jobs, h.repackJob, h.keeper.RetentionJob(o.git, o.images), feedback)
	return err
}
