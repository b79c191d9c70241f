// Poses, inertias and mass matrices that several kernels need, compiled once. There is no kernel in this file.
#include "kernels/world.hpp"

namespace kinodyn::KINODYN_TARGET {

template void place_all(Work<double>&, const double*, Placement<double>*);
template void place_all(Work<Pack>&, const Pack*, Placement<Pack>*);
template void place_all(Work<FloatPack>&, const FloatPack*, Placement<FloatPack>*);
template Vec3<double> World<double>::place_bodies(World<double>, const Model&, const double*);
template void World<double>::write_mass_matrix(World<double>, const Model&, double*);
template Vec3<Pack> World<Pack>::place_bodies(World<Pack>, const Model&, const Pack*);
template void World<Pack>::write_mass_matrix(World<Pack>, const Model&, Pack*);
template Vec3<FloatPack> World<FloatPack>::place_bodies(World<FloatPack>, const ModelOf<float>&, const FloatPack*);
template void World<FloatPack>::write_mass_matrix(World<FloatPack>, const ModelOf<float>&, FloatPack*);

extern const KernelList world_kernels;
const KernelList world_kernels = {};

}  // namespace kinodyn::KINODYN_TARGET
