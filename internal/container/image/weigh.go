package image

import "slices"

// layerBytes returns the size of each layer. An image's size includes all its layers, so the size of a
// layer is the difference to the image below. If images below were removed by name, their bytes are
// counted with the layer above them, and only once for all images that share them. This is the smaller
// of two possible estimates.
func layerBytes(entries []ImageEntry) map[Layer]int64 {
	sorted := slices.Clone(entries)
	slices.SortFunc(sorted, func(a, b ImageEntry) int { return len(a.Layers) - len(b.Layers) })
	whole := map[Layer]int64{}   // size of the image whose topmost layer this is
	hidden := map[Layer]int64{}  // bytes counted above a layer that has no image
	outcome := map[Layer]int64{} // result by layer
	for _, imageEntry := range sorted {
		if len(imageEntry.Layers) == 0 {
			continue
		}
		own, shared := imageEntry.Size, int64(0)
		for _, layer := range slices.Backward(imageEntry.Layers[:len(imageEntry.Layers)-1]) {
			if below, ok := whole[layer]; ok {
				own -= below
				break
			}
			shared = max(shared, hidden[layer])
		}
		own = max(0, own)
		for _, layer := range slices.Backward(imageEntry.Layers[:len(imageEntry.Layers)-1]) {
			if _, ok := whole[layer]; ok {
				break
			}
			hidden[layer] = max(hidden[layer], own)
		}
		whole[imageEntry.topLayer()] = imageEntry.Size
		outcome[imageEntry.topLayer()] = max(0, own-shared)
	}
	return outcome
}

// FreedBytes returns how many bytes the removal of each of these images frees, if they are removed in
// this order. all are the existing images.
func FreedBytes(all, gone []ImageEntry) []int64 {
	sizes := layerBytes(all)
	users := map[Layer]int{}
	for _, e := range all {
		for _, l := range e.Layers {
			users[l]++
		}
	}
	out := make([]int64, len(gone))
	for i, e := range gone {
		for _, layer := range e.Layers {
			if users[layer]--; users[layer] == 0 {
				out[i] += sizes[layer]
			}
		}
	}
	return out
}

// OwnBytes returns the total size of the worker images that own picks. It counts each layer once, and
// omits the layers that other projects share: the base, toolchains and the toolbox.
func OwnBytes(all []ImageEntry, own func(ImageEntry) bool) (sum int64) {
	sizes := layerBytes(all)
	seen := map[Layer]bool{}
	shared := append(sharedKinds(), toolboxLayer, "ready")
	for _, imageEntry := range all {
		if !imageEntry.IsWorkerImage || !own(imageEntry) {
			continue
		}
		for _, layer := range imageEntry.Layers {
			if !seen[layer] && !slices.Contains(shared, layer.Kind) {
				sum += sizes[layer]
			}
			seen[layer] = true
		}
	}
	return sum
}
