package image

import "slices"

// layerBytes returns the bytes of each layer. An image's size is that of all its layers,
// so a layer has what its image has beyond the image below it. Where images below were
// removed by name, their bytes are counted with the layer above them, and only once for
// all that share them: of two guesses this takes the smaller.
func layerBytes(entries []ImageEntry) map[Layer]int64 {
	sorted := slices.Clone(entries)
	slices.SortFunc(sorted, func(a, b ImageEntry) int { return len(a.Layers) - len(b.Layers) })
	whole := map[Layer]int64{}   // the size of the image that ends with a layer
	hidden := map[Layer]int64{}  // what was counted with a layer above one without an image
	outcome := map[Layer]int64{} // by layer
	for _, e := range sorted {
		if len(e.Layers) == 0 {
			continue
		}
		own, shared := e.Size, int64(0)
		for _, l := range slices.Backward(e.Layers[:len(e.Layers)-1]) {
			if below, ok := whole[l]; ok {
				own -= below
				break
			}
			shared = max(shared, hidden[l])
		}
		own = max(0, own)
		for _, l := range slices.Backward(e.Layers[:len(e.Layers)-1]) {
			if _, ok := whole[l]; ok {
				break
			}
			hidden[l] = max(hidden[l], own)
		}
		whole[e.topLayer()] = e.Size
		outcome[e.topLayer()] = max(0, own-shared)
	}
	return outcome
}

// FreedBytes returns how many bytes the removal of each of these images frees, if they
// are removed in this order. all are the images that there are.
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
		for _, l := range e.Layers {
			if users[l]--; users[l] == 0 {
				out[i] += sizes[l]
			}
		}
	}
	return out
}

// OwnBytes returns the bytes of the worker images that own picks, each layer counted
// once, without the layers that other projects have as well: the base, toolchains and the
// toolbox.
func OwnBytes(all []ImageEntry, own func(ImageEntry) bool) (sum int64) {
	sizes := layerBytes(all)
	seen := map[Layer]bool{}
	shared := append(sharedKinds(), toolboxLayer, "ready")
	for _, e := range all {
		if !e.IsWorkerImage || !own(e) {
			continue
		}
		for _, l := range e.Layers {
			if !seen[l] && !slices.Contains(shared, l.Kind) {
				sum += sizes[l]
			}
			seen[l] = true
		}
	}
	return sum
}
