package app

import (
	"slices"

	"company/internal/container/image"
	"company/internal/lib/secret"
	"company/internal/office/config"
	"company/internal/upkeep"
)

// wireUpkeep creates the periodic jobs of an office, and the server for the forge's webhooks.
func (a *App) wireUpkeep(cfg config.Config, o outside) error {
	a.git = o.git
	a.repackJob, a.archiveJob = a.keeper.RepackJob(o.git), a.keeper.ArchiveJob()
	called := make(chan struct{}, 1)
	a.webhooks = upkeep.Webhooks{Listen: cfg.Forge.WebhookListen, Secret: secret.New(a.envValue(cfg.Forge.WebhookEnv)),
		Env: cfg.Forge.WebhookEnv, Kinds: webhookKinds(), Trigger: called}
	feedback, err := a.feedbackJob(called, o.forges)
	if err == nil {
		err = a.wireNotices(cfg.Notify)
	}
	a.jobs = []upkeep.Job{a.repackJob, a.archiveJob, a.keeper.RetentionJob(o.git, o.images), feedback}
	a.imagesJob = a.keeper.ImagesJob(o.images, a.imagesDue)
	return err
}

// historyLayer is the kind of the layer that projects do not share.
const historyLayer = "repo"

// noteBuiltLayer triggers imagesJob when a worker image is complete. The history is its top layer.
func (a *App) noteBuiltLayer(l image.Layer) {
	if l.Kind == historyLayer {
		a.callForImageRound()
	}
}

// noteImagesAtWork triggers imagesJob when the images of open tasks change: when a task's image is
// recorded, and when a task has ended and its image may be removed.
func (a *App) noteImagesAtWork() {
	var atWork []string
	state := a.View()
	for _, id := range state.Open {
		if task := state.Tasks[id]; task.IsPrepared() {
			atWork = append(atWork, task.Prepared.Image)
		}
	}
	if !slices.Equal(atWork, a.imagesAtWork) {
		a.imagesAtWork = atWork
		a.callForImageRound()
	}
}

func (a *App) callForImageRound() {
	select {
	case a.imagesDue <- struct{}{}:
	default: // a round is pending already
	}
}
