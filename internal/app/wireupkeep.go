package app

import (
	"slices"

	"company/internal/config"
	"company/internal/image"
	"company/internal/secret"
	"company/internal/upkeep"
)

// wireUpkeep makes the jobs that come again and again while the office is served,
// and the server of the forge's webhooks.
func (a *App) wireUpkeep(cfg config.Config, o outside) error {
	a.git = o.git
	a.repackJob, a.archiveJob = a.keeper.RepackJob(o.git), a.keeper.ArchiveJob()
	called := make(chan struct{}, 1)
	a.webhooks = upkeep.Webhooks{Listen: cfg.Forge.WebhookListen, Secret: secret.New(a.envValue(cfg.Forge.WebhookEnv)), Env: cfg.Forge.WebhookEnv, Trigger: called}
	feedback, err := a.feedbackJob(called, o.forges)
	if err == nil {
		err = a.wireNotices(cfg.Notify)
	}
	a.jobs = append(a.jobs, a.repackJob, a.archiveJob, a.keeper.RetentionJob(o.git, o.images), a.verifier.Job(), feedback)
	a.imagesJob = a.keeper.ImagesJob(o.images, a.imagesDue)
	return err
}

// noteBuiltLayer calls for a round of imagesJob once a worker image is there: the history
// is its topmost layer.
func (a *App) noteBuiltLayer(l image.Layer) {
	if l.Kind == historyLayer {
		a.callForImageRound()
	}
}

// noteImagesAtWork calls for a round of imagesJob when a task at work has its image
// recorded, and when it has ended: before that its image was not one to remove.
func (a *App) noteImagesAtWork() {
	var atWork []string
	s := a.View()
	for _, id := range s.Open {
		atWork = append(atWork, s.Tasks[id].ListImages()...)
	}
	if !slices.Equal(atWork, a.imagesAtWork) {
		a.imagesAtWork = atWork
		a.callForImageRound()
	}
}

func (a *App) callForImageRound() {
	select {
	case a.imagesDue <- struct{}{}:
	default: // a round is called for already
	}
}
