from kinodyn.walking.biped import Biped
