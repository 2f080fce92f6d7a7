<?php

/**
 * Composer's files of packages come from the mirror, wherever a lock file or a registry says
 * that they lie. The lock files that composer writes keep the addresses of the registry.
 */
class CompanyMirror implements Composer\Plugin\PluginInterface, Composer\EventDispatcher\EventSubscriberInterface
{
    /** The sources of packages, by name, while their files are fetched. */
    private array $sources = [];

    public static function getSubscribedEvents()
    {
        return ['pre-file-download' => 'redirect', 'pre-pool-create' => 'hideSources', 'post-file-download' => 'showSource'];
    }

    public function activate(Composer\Composer $composer, Composer\IO\IOInterface $io) {}

    public function deactivate(Composer\Composer $composer, Composer\IO\IOInterface $io) {}

    public function uninstall(Composer\Composer $composer, Composer\IO\IOInterface $io) {}

    public function redirect(Composer\Plugin\PreFileDownloadEvent $event)
    {
        $package = $event->getContext();
        if ($event->getType() === 'package' && preg_match('{^https?://}', $event->getProcessedUrl())) {
            $event->setProcessedUrl('@ADDRESS@/dist/' . strtolower($package->getName()) . '/' . rawurlencode($package->getPrettyVersion()) . '/' . rawurlencode($package->getDistReference() ?: '-'));
        }
    }

    /** Composer would ask git for a package whose file it does not get, and then blame git. */
    public function hideSources(Composer\Plugin\PrePoolCreateEvent $event)
    {
        if (!getenv('COMPANY_FILES_ONLY')) {
            return;
        }
        foreach ($event->getPackages() as $package) {
            if ($package instanceof Composer\Package\Package && $package->getDistType() && $package->getSourceType()) {
                $this->sources[$package->getName()] = $package->getSourceType();
                $package->setSourceType(null);
            }
        }
    }

    /** Composer's record of what is installed names the source, too. */
    public function showSource(Composer\Plugin\PostFileDownloadEvent $event)
    {
        $package = $event->getContext();
        if ($event->getType() === 'package' && isset($this->sources[$package->getName()])) {
            $package->setSourceType($this->sources[$package->getName()]);
        }
    }
}
